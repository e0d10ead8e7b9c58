import { runHttpService } from '@ecf/service-kit/service';
import { createEmission } from './app.js';
import { emissionConfig } from './config.js';

await runHttpService('emission', emissionConfig, createEmission);
