export { callWithToken } from './call-with-token.js';
export { logIn } from './login.js';
export { LoginError, type LoginErrorCode } from './login-error.js';
export { signSeed } from './sign-seed.js';
