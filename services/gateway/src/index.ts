export { createGateway, type Gateway, type GatewayOverrides } from './app.js';
export { type GatewayConfig, gatewaySettings, readGatewayConfig } from './config.js';
export { createHttpUpstream, createInProcessUpstream, type Upstream } from './edge/upstream.http.js';
