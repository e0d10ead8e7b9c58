export { type CleaningOptions, createCleaning } from './cleaning.js';
export { openBus } from './open-bus.js';
export { runHttpService } from './run-http-service.js';
export { runService, StartError } from './run-service.js';
export { openServiceDependencies, type ServiceDependencies, type SharedDependencies } from './service-dependencies.js';
export { createServiceState } from './service-state.js';
