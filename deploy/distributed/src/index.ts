export { createDistributed, type Distributed } from './distributed.js';
