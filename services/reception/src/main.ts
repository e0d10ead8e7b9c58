import { runHttpService } from '@ecf/service';
import { createReception } from './app.js';
import { readReceptionConfig } from './config.js';

await runHttpService('reception', readReceptionConfig, createReception);
