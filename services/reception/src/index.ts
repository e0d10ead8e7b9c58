export { trustCheck } from '@ecf/public-door';
export { createReception, type Reception, type ReceptionOverrides } from './app.js';
export { type ReceptionConfig, readReceptionConfig, receptionSettings } from './config.js';
export { type AcknowledgementFacts, signAcknowledgement } from './core/acknowledgements/acknowledgement.js';
export { type Judgement, type JudgeOptions, judgeDocument } from './core/documents/judge-document.js';
