import { directoryContract } from '../contract/directory.js';
import { rowsAlone } from './rows-alone.js';

directoryContract('mongodb', rowsAlone);
