export { createStatusPoller, type StatusPoller, type StatusPollerOverrides } from './app.js';
export { readStatusPollerConfig, type StatusPollerConfig, statusPollerSettings } from './config.js';
