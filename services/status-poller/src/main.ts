import { runHttpService } from '@ecf/service';
import { createStatusPoller } from './app.js';
import { readStatusPollerConfig } from './config.js';

await runHttpService('status-poller', readStatusPollerConfig, createStatusPoller);
