export { createGateway, type Gateway, type GatewayOverrides } from './app.js';
export { type GatewayConfig, gatewaySettings, readGatewayConfig } from './config.js';

export { createHttpUpstream } from './outbound/upstream.http.js';
export { createInProcessUpstream } from './outbound/upstream.in-process.js';
export type { Upstream } from './upstream.js';
