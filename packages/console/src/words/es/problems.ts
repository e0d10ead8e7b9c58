/** What is wrong and what to do, by the code of the gateway's error. */
export const problems = {
  bad_request: 'El servidor no entendió la solicitud. Revise lo que escribió e intente de nuevo.',
  invalid_json: 'El contenido no es JSON válido. Corrija el archivo o el texto y envíelo de nuevo.',
  not_utf8: 'El archivo no está en UTF-8. Guárdelo con esa codificación y envíelo de nuevo.',
  invalid_xml: 'El XML no se puede leer o su firma no es válida. Envíe el documento tal como se firmó.',
  document_too_costly: 'El documento es demasiado grande para revisarlo. Divídalo o quite líneas y textos.',
  invalid_document:
    'La DGII rechazaría este comprobante; no se usó ningún número. Corrija lo que se indica y envíelo de nuevo.',
  wrong_endpoint: 'Este documento se envía por otra vía. Revise su tipo y su total.',
  invalid_batch:
    'El lote no tiene comprobantes, tiene más de 10,000 o no es una lista. No se guardó nada; corrija el archivo.',
  invalid_parameters: 'Los filtros se contradicen. Cámbielos e intente de nuevo.',
  ambiguous_encf:
    'Varios comprobantes de la cuenta tienen este e-NCF. Indique también el RNC del emisor o del comprador.',
  invalid_issuer_rnc: 'El RNC del emisor falta o no es el del comprobante. Corríjalo.',
  invalid_api_key:
    'La clave no es válida: no existe, venció o fue revocada. Entre con otra, o pida una al responsable de la cuenta.',
  invalid_admin_token: 'El token no es válido: no existe, venció o fue eliminado. Entre con otro.',
  session_ended: 'La sesión terminó. Entre de nuevo y repita lo que hacía.',
  environment_not_allowed: 'La clave con la que entró no sirve para este ambiente. Elija otro, o entre con otra clave.',
  login_refused:
    'La DGII no aceptó el certificado del contribuyente. Revise en la Oficina Virtual que esté autorizado para este ambiente.',
  invalid_token: 'La DGII no reconoció la autorización de esta consulta. Intente de nuevo.',
  missing_scope:
    'La clave con la que entró no tiene el permiso necesario. Use otra, o pídala al responsable de la cuenta.',
  beyond_own_rights:
    'La clave con la que entró no tiene permiso para este cambio. Use una clave con más permisos o pídalo a un administrador del servicio.',
  missing_role: 'Su función de administrador no permite esto. Pídalo a un administrador que la tenga.',
  not_found: 'No se encontró lo que busca. Revise el número, el contribuyente y el ambiente.',
  unknown_route: 'Este servidor no ofrece esta función. Puede que su versión sea anterior; cargue la página de nuevo.',
  taxpayer_not_found: 'El RNC no es de un contribuyente de esta cuenta. Elija otro, o pida que lo registren.',
  request_timeout: 'La solicitud no llegó completa. Intente de nuevo.',
  conflict: 'Alguien cambió esto mientras tanto. Revise el estado actual y decida de nuevo.',
  already_answered: 'Este comprobante ya tenía una decisión. No se envió otra.',
  not_printable:
    'No hay representación impresa: la DGII rechazó el comprobante, o se retiró sin enviarlo. Su XML sigue disponible.',
  encf_already_used: 'Ese e-NCF ya lo tiene otro comprobante. Compare ambos; use otro número solo si es otra venta.',
  encf_cancelled: 'Ese e-NCF fue anulado. Use otro número.',
  idempotency_conflict:
    'La primera versión, con otro contenido, ya se emitió. Esta no se envió. Para otra venta, cargue la página de nuevo.',
  range_exhausted:
    'No quedan números en las secuencias registradas. Solicite una secuencia a la DGII y regístrela en Ajustes.',
  range_expired: 'Los números que quedan están vencidos. Solicite una secuencia a la DGII y regístrela en Ajustes.',
  encf_in_use: 'Algunos de los números están usados, en envío o ya anulados. Quítelos de la lista.',
  range_in_use: 'La lista nueva deja fuera secuencias que ya se usaron. Déjelas, o confirme que quiere quitarlas.',
  ranges_changed: 'Otra persona cambió los rangos mientras tanto. Cierre, revise la lista y repita el cambio.',
  taxpayer_taken: 'Ese RNC ya está registrado en este servidor.',
  event_expired: 'Ese evento es anterior a los 90 días que se conservan.',
  body_too_large:
    'El archivo es más grande de lo que este servidor acepta. Divídalo, o pida al operador que suba el límite.',
  unsupported_media_type: 'El servidor no acepta este tipo de archivo. Elija otro.',
  validation_error: 'Falta un dato o no tiene la forma correcta. Corrija lo que se indica.',
  environment_not_served: 'Este servidor trabaja con el simulador y no ofrece producción (eCF). Elija otro ambiente.',
  idempotency_key_required: 'El comprobante no tiene e-NCF. Cargue la página de nuevo y envíelo otra vez.',
  service_not_in_environment: 'La DGII no ofrece este servicio en este ambiente. Elija TesteCF o eCF.',
  unknown_event: 'No existe ningún evento con ese identificador.',
  rate_limited: 'Hay demasiadas solicitudes a la vez. Espere unos segundos e intente de nuevo.',
  headers_too_large: 'El navegador envió demasiados datos. Borre las cookies de este sitio y entre de nuevo.',
  internal_error:
    'El servidor falló. Intente de nuevo; ningún comprobante se emite dos veces. Si se repite, avise al operador.',
  document_damaged: 'El documento guardado falta o está dañado. Avise al operador del servidor.',
  authority_unreadable: 'La respuesta de la DGII no se puede usar. Intente más tarde.',
  authority_unreachable: 'La DGII no responde. No se firmó ni se usó ningún número; intente de nuevo en un rato.',
  authority_timeout:
    'La DGII no respondió a tiempo. El comprobante está guardado y se sigue enviando; revise su estado más tarde.',
  overloaded: 'El servidor tiene demasiado trabajo. Espere unos segundos e intente de nuevo.',
  service_unavailable: 'Una parte del servidor no está lista. Espere unos segundos e intente de nuevo.',
  certificate_missing: 'El contribuyente no tiene certificado. Súbalo en Ajustes.',
  certificate_expired: 'El certificado del contribuyente está vencido. Suba uno nuevo en Ajustes.',
  certificate_not_yet_valid:
    'El certificado del contribuyente todavía no es válido. Espere a su fecha de inicio, o suba otro.',
  certificate_unusable:
    'El certificado del contribuyente no se puede abrir. Súbalo de nuevo; si sigue igual, avise al operador.',
  storage_full: 'El disco del servidor está lleno. Avise al operador e intente de nuevo en un minuto.',
  commit_unconfirmed: 'No se sabe si quedó guardado. Repita lo mismo sin cambios: nada se envía dos veces.',
  status_key_missing: 'El servidor no tiene la clave del servicio de estado de la DGII. El operador debe configurarla.',
  unknown_answer:
    'La respuesta no es del servidor, sino de un proxy o una red intermedia. Intente de nuevo; si se repite, avise al operador.',
};
