import { runService } from '@ecf/service-kit/service';
import { createGateway } from './app.js';
import { readGatewayConfig } from './config.js';

await runService('gateway', () => createGateway(readGatewayConfig(process.env)));
