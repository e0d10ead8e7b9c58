export { type Standalone, startStandalone } from './standalone.js';
