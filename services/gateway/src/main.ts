import { runService } from '@ecf/service';
import { createGateway } from './app.js';
import { readGatewayConfig } from './config.js';

await runService('gateway', () => createGateway(readGatewayConfig(process.env)));
