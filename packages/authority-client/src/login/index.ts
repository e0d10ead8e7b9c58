export { logIn } from './login.js';
export { LoginError, type LoginErrorCode } from './login-error.js';
export { type SeedSigner, signSeed } from './sign-seed.js';
