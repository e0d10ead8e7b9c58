export { createDueTimeWatch } from './due-time-watch.js';
export { type ClaimRequest, createDueWork, type DueWork, type DueWorkStore } from './due-work.js';
