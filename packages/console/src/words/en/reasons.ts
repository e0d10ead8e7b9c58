import type { reasons as spanish } from '../es/reasons.js';

/** Why the gateway refused something, by the type of the first item that it names, with what to do. */
export const reasons: typeof spanish = {
  // Certificates
  not_a_pkcs12: 'The file is not a .p12 or .pfx certificate. Choose the file that your certification body gave you.',
  wrong_password: 'The password does not open the file. Type it again.',
  unsupported_encryption:
    'The file is encrypted in a way that cannot be opened. Ask your certification body for a current .p12.',
  private_key_missing: 'The file lacks the private key. Export the certificate with its private key.',
  certificate_missing: 'The certificate is missing: the file does not contain it, or the taxpayer has none stored.',
  too_many_entries: 'The file contains too many keys and certificates. Export only the one that signs.',
  key_mismatch: 'The private key in the file does not belong to the certificate.',
  key_not_rsa: 'The key of the certificate is not RSA, the only kind that DGII accepts.',
  key_size: 'The size of the key does not allow it to sign e-CF.',
  key_usage: 'The certificate may not sign. Ask for a digital signature certificate for tax procedures.',
  no_signing_key: 'None of the keys in the file can sign today.',
  certificate_expired: 'The certificate has expired. Ask your certification body for a new one.',
  certificate_not_yet_valid: 'The certificate is not valid yet. Wait for its first day.',
  // Logos
  too_large: 'The picture is larger than 1 MB. Save it smaller.',
  payload_too_large: 'The file is larger than 1 MB. Save it smaller.',
  not_png_or_jpeg: 'The picture is neither PNG nor JPEG. Save it as one of them.',
  wrong_type: 'The content of the picture does not match its extension. Save it again as PNG or JPEG.',
  too_many_pixels: 'The picture has more than 4,000,000 pixels. It is printed at most 50 mm wide; make it smaller.',
  animated: 'The picture is animated. Save a single picture.',
  interlaced: 'The PNG is interlaced. Save it without interlacing.',
  cmyk: 'The JPEG has CMYK colours, which are for print shops. Save it with RGB colours.',
  damaged: 'The picture is cut off or damaged. Save it again.',
  too_costly: 'The picture is too hard to read. Save it again as a plain PNG or JPEG.',
  // Decisions
  mismatch:
    'The document has changed since it was shown: another one has this number now. No decision was signed; look at it and decide again.',
};
