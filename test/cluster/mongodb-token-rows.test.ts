import { tokenRowsContract } from '../contract/token-rows.js';
import { tracesContract } from '../contract/traces.js';
import { rowsAlone } from './rows-alone.js';

tokenRowsContract('mongodb', rowsAlone);
tracesContract('mongodb', rowsAlone);
