export { createStandalone, type Standalone } from './standalone.js';
