import { runHttpService } from '@ecf/service';
import { createApprovals } from './app.js';
import { readApprovalsConfig } from './config.js';

await runHttpService('approvals', readApprovalsConfig, createApprovals);
