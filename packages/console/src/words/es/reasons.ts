/** Why the gateway refused something, by the type of the first item that it names, with what to do. */
export const reasons = {
  // Certificates
  not_a_pkcs12:
    'El archivo no es un certificado .p12 o .pfx. Elija el archivo que le entregó su entidad de certificación.',
  wrong_password: 'La contraseña no abre el archivo. Escríbala de nuevo.',
  unsupported_encryption:
    'El archivo usa un cifrado que no se puede abrir. Pida a su entidad de certificación un .p12 actual.',
  private_key_missing: 'El archivo no contiene la clave privada. Exporte el certificado con su clave privada.',
  certificate_missing: 'Falta el certificado: el archivo no lo contiene, o el contribuyente no tiene ninguno guardado.',
  too_many_entries: 'El archivo contiene demasiadas claves y certificados. Exporte solo el que firma.',
  key_mismatch: 'La clave privada del archivo no corresponde al certificado.',
  key_not_rsa: 'La clave del certificado no es RSA, la única que acepta la DGII.',
  key_size: 'El tamaño de la clave del certificado no sirve para firmar e-CF.',
  key_usage:
    'El certificado no está autorizado para firmar. Pida uno de firma digital para procedimientos tributarios.',
  no_signing_key: 'Ninguna de las claves del archivo puede firmar hoy.',
  certificate_expired: 'El certificado está vencido. Pida uno nuevo a su entidad de certificación.',
  certificate_not_yet_valid: 'El certificado todavía no es válido. Espere a su fecha de inicio.',
  // Logos
  too_large: 'La imagen pesa más de 1 MB. Guárdela con menos peso.',
  payload_too_large: 'El archivo pesa más de 1 MB. Guárdelo con menos peso.',
  not_png_or_jpeg: 'La imagen no es PNG ni JPEG. Guárdela en uno de esos formatos.',
  wrong_type: 'El contenido de la imagen no corresponde a su extensión. Guárdela de nuevo como PNG o JPEG.',
  too_many_pixels: 'La imagen tiene más de 4,000,000 de píxeles. Se imprime con 50 mm de ancho como máximo; redúzcala.',
  animated: 'La imagen es animada. Guárdela como imagen fija.',
  interlaced: 'El PNG es entrelazado. Guárdelo sin entrelazado.',
  cmyk: 'El JPEG tiene colores CMYK (de imprenta). Guárdelo con colores RGB.',
  damaged: 'La imagen está incompleta o dañada. Guárdela de nuevo.',
  too_costly: 'La imagen es demasiado difícil de leer. Guárdela de nuevo como PNG o JPEG sencillo.',
  // Decisions
  mismatch:
    'El comprobante cambió desde que se mostró: otro tiene ahora este número. No se firmó nada; revíselo y decida de nuevo.',
};
