export { openSharedCache } from './open-shared-cache.js';
export { cacheSettings, type SharedCache } from './shared-cache.js';
