/**
 * The security code printed on an e-CF and carried by its QR address and its summary (CodigoSeguridad,
 * CodigoSeguridadeCF): the first six characters of the base64 text of SignatureValue, blanks left out, case kept.
 * It may contain `+` and `/`, so it is percent-encoded wherever it becomes part of an address.
 *
 * Source: Informe Técnico e-CF 18.2.3.
 */
export function securityCode(signatureValue: string): string {
  return signatureValue.replace(/\s+/g, '').slice(0, 6);
}
