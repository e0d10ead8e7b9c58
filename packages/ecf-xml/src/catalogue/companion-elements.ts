/**
 * The five companion documents, written as in ecf-elements.ts with a single presence letter.
 * Source: the authority's XSD of each document.
 */

/** Summary of a consumer invoice under 250,000 (Resumen de Factura de Consumo Electrónica). */
export const RFCE_ELEMENTS = `
RFCE                                               R
  Encabezado                                       R
    Version                                        R  VersionType
    IdDoc                                          R
      TipoeCF                                      R  TipoeCFType
      eNCF                                         R  eNCFType
      TipoIngresos                                 R  TipoIngresosType
      TipoPago                                     R  TipoPagoType
      TablaFormasPago                              o
        FormaDePago                                o  x7
          FormaPago                                o  FormaPagoType
          MontoPago                                o  Decimal18D2MayorIgual0Type
    Emisor                                         R
      RNCEmisor                                    R  RNCType
      RazonSocialEmisor                            R  AlfaNum150RType
      FechaEmision                                 R  FechaType
    Comprador                                      R
      RNCComprador                                 o  RNCType
      IdentificadorExtranjero                      o  AlfaNum20Type
      RazonSocialComprador                         o  AlfaNum150Type
    Totales                                        R
      MontoGravadoTotal                            o  Decimal18D2MayorIgual0Type
      MontoGravadoI1                               o  Decimal18D2MayorIgual0Type
      MontoGravadoI2                               o  Decimal18D2MayorIgual0Type
      MontoGravadoI3                               o  Decimal18D2MayorIgual0Type
      MontoExento                                  o  Decimal18D2MayorIgual0Type
      TotalITBIS                                   o  Decimal18D2MayorIgual0Type
      TotalITBIS1                                  o  Decimal18D2MayorIgual0Type
      TotalITBIS2                                  o  Decimal18D2MayorIgual0Type
      TotalITBIS3                                  o  Decimal18D2MayorIgual0Type
      MontoImpuestoAdicional                       o  Decimal18D2Mayor0Type
      ImpuestosAdicionales                         o
        ImpuestoAdicional                          o  x20
          TipoImpuesto                             o  ImpuestosAdicionalesType
          MontoImpuestoSelectivoConsumoEspecifico  o  Decimal18D2Mayor0Type
          MontoImpuestoSelectivoConsumoAdvalorem   o  Decimal18D2Mayor0Type
          OtrosImpuestosAdicionales                o  Decimal18D2Mayor0Type
      MontoTotal                                   R  Decimal18D2MayorIgual0Type
      MontoNoFacturable                            o  Decimal18D2NegativoType
      MontoPeriodo                                 o  Decimal18D2NegativoType
    CodigoSeguridadeCF                             R  CodigoSeguridadeCFType
`;

/** Commercial approval (Aprobación Comercial). */
export const ACECF_ELEMENTS = `
ACECF                             R
  DetalleAprobacionComercial      R
    Version                       R  versionType
    RNCEmisor                     R  RNCValidation
    eNCF                          R  AlfaNum11Validation
    FechaEmision                  R  DateValidation
    MontoTotal                    R  Decimal18D2Validation
    RNCComprador                  R  RNCValidation
    Estado                        R  EstadoType
    DetalleMotivoRechazo          o  AlfaNum250Validation
    FechaHoraAprobacionComercial  R  DateAndTimeValidation
`;

/** Cancellation of unused numbers (Anulación de e-NCF). */
export const ANECF_ELEMENTS = `
ANECF                                   R
  Encabezado                            R
    Version                             R  versionType
    RncEmisor                           R  RNCValidation
    CantidadeNCFAnulados                R  Num10Validation
    FechaHoraAnulacioneNCF              R  DateAndTimeValidation
  DetalleAnulacion                      R
    Anulacion                           R  x10
      NoLinea                           R  x10 Num2Validation
      TipoeCF                           R  CFType
      TablaRangoSecuenciasAnuladaseNCF  R
        Secuencias                      R  x10000
          SecuenciaeNCFDesde            R  AlfaNum13Validation
          SecuenciaeNCFHasta            R  AlfaNum13Validation
      CantidadeNCFAnulados              R  Num10Validation
`;

/** Acknowledgement of receipt (Acuse de Recibo). */
export const ARECF_ELEMENTS = `
ARECF                       R
  DetalleAcusedeRecibo      R
    Version                 R  VersionType
    RNCEmisor               R  RNCType
    RNCComprador            R  RNCType
    eNCF                    R  eNCFType
    Estado                  R  EstadoType
    CodigoMotivoNoRecibido  o  CodigoMotivoNoRecibidoType
    FechaHoraAcuseRecibo    R  DateAndTimeType
`;

/** The seed that a login signs (Semilla). */
export const SEED_ELEMENTS = `
SemillaModel  R
  valor       R  xs:string
  fecha       R  xs:dateTime
`;
