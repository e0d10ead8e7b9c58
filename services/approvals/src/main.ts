import { runHttpService } from '@ecf/service-kit/service';
import { createApprovals } from './app.js';
import { readApprovalsConfig } from './config.js';

await runHttpService('approvals', readApprovalsConfig, createApprovals);
