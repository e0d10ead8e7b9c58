export {
  type Caller,
  callerOf,
  createIdentities,
  effectiveEnvironment,
  environmentNotServed,
  IDENTITY_HEADER,
  type Identities,
  type Identity,
  identify,
  identityOf,
  type PublicCaller,
  requireIdentity,
  requireService,
} from './identity.js';
export {
  createServiceKeys,
  makeServiceKeys,
  type PublicServiceKey,
  readServiceKeys,
  type ServiceKeys,
  serviceKeySettings,
} from './service-keys.js';
