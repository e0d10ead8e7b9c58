import { runHttpService } from '@ecf/service';
import { createEmission } from './app.js';
import { emissionConfig } from './config.js';

await runHttpService('emission', emissionConfig, createEmission);
