export { trustCheck } from '@ecf/public-ingress';
export { createReception, type Reception, type ReceptionOverrides } from './app.js';
export { type ReceptionConfig, readReceptionConfig, receptionSettings } from './config.js';
export { type AcknowledgementFacts, signAcknowledgement } from './receive/acknowledgement.js';
export { type ValidateOptions, type ValidationResult, validateDocument } from './receive/validate-document.js';
