import { erasureProbeContract } from '../contract/erasure-probe.js';
import { tokenRowsContract } from '../contract/token-rows.js';
import { rowsAlone } from './rows-alone.js';

tokenRowsContract('mongodb', rowsAlone);
erasureProbeContract('mongodb', rowsAlone);
