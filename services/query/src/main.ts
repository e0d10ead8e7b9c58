import { runHttpService } from '@ecf/service';
import { createQuery } from './app.js';
import { readQueryConfig } from './config.js';

await runHttpService('query', readQueryConfig, createQuery);
