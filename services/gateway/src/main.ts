import { runService } from '@ecf/service-kit';
import { createGateway } from './app.js';
import { readGatewayConfig } from './config.js';

await runService('gateway', () => createGateway(readGatewayConfig(process.env)));
