import type { Answer } from '../answers/answer.js';
import type { TokenProvider, TokenRequest } from '../tokens/token-provider.js';

/**
 * Calls the authority with a token. If it refuses the token, calls once more with a fresh one.
 * @throws LoginError
 */
export async function callWithToken<V>(
  tokens: TokenProvider,
  request: TokenRequest,
  call: (token: string) => Promise<Answer<V>>,
): Promise<Answer<V>> {
  const { token } = await tokens.get(request);
  const answer = await call(token);
  if (answer.outcome !== 'unauthorized') return answer;
  await tokens.invalidate({ ...request, token });
  return call((await tokens.get(request)).token);
}
