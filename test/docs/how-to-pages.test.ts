import { followPages } from './follow-pages.js';

followPages((page) => page.startsWith('docs/how-to/'));
