import { identityKeyFrom } from '@ecf/service-kit/security';

export const MASTER_KEY = Buffer.alloc(32, 7);
export const IDENTITY_KEY = identityKeyFrom(MASTER_KEY);
