import { type Logo, LogoError, readLogo } from '@ecf/logo';

/** What a thread finds in a picture: the logo, or why it is not one. */
export type CheckedLogo = Pick<Logo, 'type' | 'width' | 'height'> | { readonly code: string; readonly message: string };

export default function check(bytes: Uint8Array): CheckedLogo {
  try {
    const { type, width, height } = readLogo(bytes);
    return { type, width, height };
  } catch (error) {
    if (!(error instanceof LogoError)) throw error;
    return { code: error.code, message: error.message };
  }
}
