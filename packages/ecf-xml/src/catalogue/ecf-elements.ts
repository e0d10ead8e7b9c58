/**
 * Every element of the ten e-CF types, in document order. One line an element:
 *
 *     name (indented under its group)   presence in 31 32 33 34 41 43 44 45 46 47   [xN]   [simple type]
 *
 * Presence: `R` required, `o` optional, `.` not part of that type (the ten letters follow the order of the types).
 * `xN`: may stand up to N times, and is a list in JSON. `33,34=...` overrides the cell before it for those types.
 * Simple types are those of simple-types.ts. Source: the authority's XSD of each type.
 */
export const ECF_ELEMENTS = `
ECF                                                          RRRRRRRRRR
  Encabezado                                                 RRRRRRRRRR
    Version                                                  RRRRRRRRRR  versionType
    IdDoc                                                    RRRRRRRRRR
      TipoeCF                                                RRRRRRRRRR  TipoeCFType
      eNCF                                                   RRRRRRRRRR  eNCFValidationType
      FechaVencimientoSecuencia                              R.R.RRRRRR  FechaValidationType
      IndicadorNotaCredito                                   ...R......  IndicadorNotaCreditoType
      IndicadorEnvioDiferido                                 oooo..ooo.  IndicadorEnvioDiferidoType
      IndicadorMontoGravado                                  ooooo..o..  IndicadorMontoGravadoType
      IndicadorServicioTodoIncluido                          oooo..oo..  IndicadorServicioTodoIncluidoType
      TipoIngresos                                           RRoo..RRR.  TipoIngresosValidationType
      TipoPago                                               RRRRooRRRo  TipoPagoType
      FechaLimitePago                                        ooooo.oooo  FechaValidationType
      TerminoPago                                            ooo.o.oooo  TerminoPagoValidationType
      TablaFormasPago                                        ooo.o.oooo
        FormaDePago                                          RRR.R.RRRR  x7
          FormaPago                                          RRR.R.RRRR  FormaPagoType
          MontoPago                                          RRR.R.RRRR  Decimal18D1or2ValidationTypeMayorIgualCero
      TipoCuentaPago                                         ooo.o.oooo  TipoCuentaPagoType
      NumeroCuentaPago                                       ooo.o.oooo  NumeroCuentaPagoType
      BancoPago                                              ooo.o.oooo  BancoPagoType
      FechaDesde                                             oooo..oooo  FechaValidationType
      FechaHasta                                             oooo..oooo  FechaValidationType
      TotalPaginas                                           oooooooooo  Integer4ValidationTypeMayorUno 33,34=Integer5ValidationTypeMayorUno
    Emisor                                                   RRRRRRRRRR
      RNCEmisor                                              RRRRRRRRRR  RNCValidationType
      RazonSocialEmisor                                      RRRRRRRRRR  AlfNum150Type
      NombreComercial                                        oooooooooo  AlfNum150Type
      Sucursal                                               oooooooooo  AlfNum20Type
      DireccionEmisor                                        RRRRRRRRRR  AlfNum100Type
      Municipio                                              oooooooooo  ProvinciaMunicipioType
      Provincia                                              oooooooooo  ProvinciaMunicipioType
      TablaTelefonoEmisor                                    oooooooooo
        TelefonoEmisor                                       RRRRRRRRRR  x3 TelefonoValidationType
      CorreoEmisor                                           oooooooooo  CorreoValidationType
      WebSite                                                oooooooooo  AlfNum50Type
      ActividadEconomica                                     oooooooooo  AlfNum100Type
      CodigoVendedor                                         oooo..ooo.  AlfNum60Type
      NumeroFacturaInterna                                   oooooooooo  AlfNum20Type
      NumeroPedidoInterno                                    oooooooooo  Integer20ValidationType
      ZonaVenta                                              oooo..ooo.  AlfNum20Type
      RutaVenta                                              oooo..ooo.  AlfNum20Type
      InformacionAdicionalEmisor                             oooooooooo  AlfNum250Type
      FechaEmision                                           RRRRRRRRRR  FechaValidationType
    Comprador                                                RRooR.RRRo
      RNCComprador                                           RoooR.oRo.  RNCValidationType
      IdentificadorExtranjero                                .ooo..o.oo  AlfNum20Type
      RazonSocialComprador                                   RoooR.RRRo  AlfNum150Type
      ContactoComprador                                      ooooo.ooo.  AlfNum80Type
      CorreoComprador                                        ooooo.ooo.  CorreoValidationType
      DireccionComprador                                     ooooo.ooo.  AlfNum100Type
      MunicipioComprador                                     ooooo.ooo.  ProvinciaMunicipioType
      ProvinciaComprador                                     ooooo.ooo.  ProvinciaMunicipioType
      PaisComprador                                          ........o.  Alfa60Type
      FechaEntrega                                           oooo..ooo.  FechaValidationType
      ContactoEntrega                                        oooo..ooo.  AlfNum100Type
      DireccionEntrega                                       oooo..ooo.  AlfNum100Type
      TelefonoAdicional                                      oooo..ooo.  TelefonoValidationType
      FechaOrdenCompra                                       oooo..ooo.  FechaValidationType
      NumeroOrdenCompra                                      oooo..ooo.  AlfNum20Type
      CodigoInternoComprador                                 ooooo.ooo.  AlfNum20Type
      ResponsablePago                                        ooooo.ooo.  Alfa20Type
      InformacionAdicionalComprador                          ooooo.ooo.  AlfNum150Type
    InformacionesAdicionales                                 oooo..ooo.
      FechaEmbarque                                          oooo..ooo.  FechaValidationType
      NumeroEmbarque                                         oooo..ooo.  AlfNum25Type
      NumeroContenedor                                       oooo..ooo.  AlfNum100Type
      NumeroReferencia                                       oooo..ooo.  Integer20ValidationType 45=AlfNum20Type
      NombrePuertoEmbarque                                   ........o.  AlfNum40Type
      CondicionesEntrega                                     ........o.  Alfa3Type
      TotalFob                                               ........o.  Decimal18D1or2ValidationTypeMayorCero
      Seguro                                                 ........o.  Decimal18D1or2ValidationTypeMayorCero
      Flete                                                  ........o.  Decimal18D1or2ValidationTypeMayorCero
      OtrosGastos                                            ........o.  Decimal18D1or2ValidationTypeMayorCero
      TotalCif                                               ........o.  Decimal18D1or2ValidationTypeMayorIgualCero
      RegimenAduanero                                        ........o.  Alfa35Type
      NombrePuertoSalida                                     ........o.  AlfNum40Type
      NombrePuertoDesembarque                                ........o.  AlfNum40Type
      PesoBruto                                              oooo..ooo.  Decimal18D1or2ValidationTypeMayorIgualCero
      PesoNeto                                               oooo..ooo.  Decimal18D1or2ValidationTypeMayorIgualCero
      UnidadPesoBruto                                        oooo..ooo.  UnidadMedidaType
      UnidadPesoNeto                                         oooo..ooo.  UnidadMedidaType
      CantidadBulto                                          oooo..ooo.  Decimal18D1or2ValidationTypeMayorIgualCero
      UnidadBulto                                            oooo..ooo.  UnidadMedidaType
      VolumenBulto                                           oooo..ooo.  Decimal18D1or2ValidationTypeMayorCero
      UnidadVolumen                                          oooo..ooo.  UnidadMedidaType
    Transporte                                               oooo..oooo
      ViaTransporte                                          ........o.  ViaTransporteType
      PaisOrigen                                             ........o.  Alfa60Type
      DireccionDestino                                       ........o.  AlfNum100Type
      PaisDestino                                            ........oo  Alfa60Type
      RNCIdentificacionCompaniaTransportista                 ........o.  AlfNum20Type
      NombreCompaniaTransportista                            ........o.  AlfNum150Type
      NumeroViaje                                            ........o.  AlfNum20Type
      Conductor                                              oooo..ooo.  AlfNum20Type
      DocumentoTransporte                                    oooo..ooo.  Integer20ValidationType
      Ficha                                                  oooo..ooo.  AlfNum10Type
      Placa                                                  oooo..ooo.  AlfNum7Type
      RutaTransporte                                         oooo..ooo.  AlfNum20Type
      ZonaTransporte                                         oooo..ooo.  AlfNum20Type
      NumeroAlbaran                                          oooo..ooo.  AlfNum20Type
    Totales                                                  RRRRRRRRRR
      MontoGravadoTotal                                      ooooo..oo.  Decimal18D1or2ValidationTypeMayorIgualCero
      MontoGravadoI1                                         ooooo..o..  Decimal18D1or2ValidationTypeMayorIgualCero
      MontoGravadoI2                                         ooooo..o..  Decimal18D1or2ValidationTypeMayorIgualCero
      MontoGravadoI3                                         ooooo..oo.  Decimal18D1or2ValidationTypeMayorIgualCero
      MontoExento                                            oooooooo.o  Decimal18D1or2ValidationTypeMayorIgualCero
      ITBIS1                                                 ooooo..o..  Integer2ValidationType
      ITBIS2                                                 ooooo..o..  Integer2ValidationType
      ITBIS3                                                 ooooo..oo.  Integer2ValidationType
      TotalITBIS                                             ooooo..oo.  Decimal18D1or2ValidationTypeMayorIgualCero
      TotalITBIS1                                            ooooo..o..  Decimal18D1or2ValidationTypeMayorIgualCero
      TotalITBIS2                                            ooooo..o..  Decimal18D1or2ValidationTypeMayorIgualCero
      TotalITBIS3                                            ooooo..oo.  Decimal18D1or2ValidationTypeMayorIgualCero
      MontoImpuestoAdicional                                 oooo..oo..  Decimal18D1or2ValidationTypeMayorCero
      ImpuestosAdicionales                                   oooo..oo..
        ImpuestoAdicional                                    RRRR..RR..  x20
          TipoImpuesto                                       RRRo..RR..  CodificacionTipoImpuestosType
          TasaImpuestoAdicional                              RRRo..RR..  Decimal5D1or2ValidationTypeMayorCero
          MontoImpuestoSelectivoConsumoEspecifico            oooo...o..  Decimal18D1or2ValidationTypeMayorCero
          MontoImpuestoSelectivoConsumoAdvalorem             oooo...o..  Decimal18D1or2ValidationTypeMayorCero
          OtrosImpuestosAdicionales                          oooo..Ro..  Decimal18D1or2ValidationTypeMayorCero
      MontoTotal                                             RRRRRRRRRR  Decimal18D1or2ValidationTypeMayorIgualCero
      MontoNoFacturable                                      oooo..ooo.  Decimal18D1or2ValidationTypeNegativoPositivo
      MontoPeriodo                                           oooooooooo  Decimal18D1or2ValidationTypeNegativoPositivo
      SaldoAnterior                                          oooooooooo  Decimal18D1or2ValidationTypeNegativoPositivo
      MontoAvancePago                                        oooooooooo  Decimal18D1or2ValidationTypeMayorIgualCero
      ValorPagar                                             oooooooooo  Decimal18D1or2ValidationTypeNegativoPositivo
      TotalITBISRetenido                                     o.ooo.....  Decimal18D1or2ValidationTypeMayorIgualCero
      TotalISRRetencion                                      o.ooo....o  Decimal18D1or2ValidationTypeMayorIgualCero
      TotalITBISPercepcion                                   o.ooo.....  Decimal18D1or2ValidationTypeMayorIgualCero
      TotalISRPercepcion                                     o.ooo.....  Decimal18D1or2ValidationTypeMayorIgualCero
    OtraMoneda                                               oooooooooo
      TipoMoneda                                             oooooooooo  TipoMonedaType
      TipoCambio                                             oooooooooo  Decimal7D1or4ValidationTypeMayorCero
      MontoGravadoTotalOtraMoneda                            ooooo..oo.  Decimal18D1or2ValidationTypeMayorIgualCero
      MontoGravado1OtraMoneda                                ooooo..o..  Decimal18D1or2ValidationTypeMayorIgualCero
      MontoGravado2OtraMoneda                                ooooo..o..  Decimal18D1or2ValidationTypeMayorIgualCero
      MontoGravado3OtraMoneda                                ooooo..oo.  Decimal18D1or2ValidationTypeMayorIgualCero
      MontoExentoOtraMoneda                                  oooooooo.o  Decimal18D1or2ValidationTypeMayorIgualCero
      TotalITBISOtraMoneda                                   ooooo..oo.  Decimal18D1or2ValidationTypeMayorIgualCero
      TotalITBIS1OtraMoneda                                  ooooo..o..  Decimal18D1or2ValidationTypeMayorIgualCero
      TotalITBIS2OtraMoneda                                  ooooo..o..  Decimal18D1or2ValidationTypeMayorIgualCero
      TotalITBIS3OtraMoneda                                  ooooo..oo.  Decimal18D1or2ValidationTypeMayorIgualCero
      MontoImpuestoAdicionalOtraMoneda                       oooo..oo..  Decimal18D1or2ValidationTypeMayorCero
      ImpuestosAdicionalesOtraMoneda                         oooo..oo..
        ImpuestoAdicionalOtraMoneda                          RRRR..RR..  x20
          TipoImpuestoOtraMoneda                             RRRR..oo..  CodificacionTipoImpuestosType
          TasaImpuestoAdicionalOtraMoneda                    RRRR..oo..  Decimal5D1or2ValidationTypeMayorCero
          MontoImpuestoSelectivoConsumoEspecificoOtraMoneda  oooo...o..  Decimal18D1or2ValidationTypeMayorCero
          MontoImpuestoSelectivoConsumoAdvaloremOtraMoneda   oooo...o..  Decimal18D1or2ValidationTypeMayorCero
          OtrosImpuestosAdicionalesOtraMoneda                oooo..oo..  Decimal18D1or2ValidationTypeMayorCero
      MontoTotalOtraMoneda                                   oooooooooo  Decimal18D1or2ValidationTypeMayorIgualCero
  DetallesItems                                              RRRRRRRRRR
    Item                                                     RRRRRRRRRR  x1000 33,34=x10000
      NumeroLinea                                            RRRRRRRRRR  NumeroLineaType
      TablaCodigosItem                                       oooooooooo
        CodigosItem                                          RRRRRRRRRR  x5
          TipoCodigo                                         RRRRRRRRRR  AlfNum14Type
          CodigoItem                                         RRRRRRRRRR  AlfNum35Type
      IndicadorFacturacion                                   RRRRRRRRRR  IndicadorFacturacionType
      Retencion                                              o.ooR....R
        IndicadorAgenteRetencionoPercepcion                  o.ooR....R  IndicadorAgenteRetencionoPercepcionType
        MontoITBISRetenido                                   o.ooo.....  Decimal18D1or2ValidationTypeMayorIgualCero
        MontoISRRetenido                                     o.ooo....R  Decimal18D1or2ValidationTypeMayorIgualCero
      NombreItem                                             RRRRRRRRRR  AlfNum80Type
      IndicadorBienoServicio                                 RRRRRRRRRR  IndicadorBienoServicioType
      DescripcionItem                                        oooooooooo  AlfNum1000Type
      CantidadItem                                           RRRRRRRRRR  Decimal18D1or2ValidationTypeMayorCero
      UnidadMedida                                           oooooooooo  UnidadMedidaType
      CantidadReferencia                                     oooo...o..  Decimal18D1or2ValidationTypeMayorIgualCero
      UnidadReferencia                                       oooo...o..  UnidadMedidaType
      TablaSubcantidad                                       oooo...o..
        SubcantidadItem                                      RRRR...R..  x5
          Subcantidad                                        oooo...o..  Decimal19D1or3ValidationTypeMayorIgualCero
          CodigoSubcantidad                                  oooo...o..  UnidadMedidaType
      GradosAlcohol                                          oooo...o..  Decimal5D1or2ValidationTypeMayorCero
      PrecioUnitarioReferencia                               oooo...o..  Decimal18D1or2ValidationTypeMayorCero
      FechaElaboracion                                       ooooo.ooo.  FechaValidationType
      FechaVencimientoItem                                   ooooo.ooo.  FechaValidationType
      Mineria                                                .ooo....o.
        PesoNetoKilogramo                                    .ooo....o.  Decimal19D1or3ValidationTypeMayorIgualCero
        PesoNetoMineria                                      .ooo....o.  Decimal19D1or3ValidationTypeMayorIgualCero
        TipoAfiliacion                                       .ooo....o.  TipoAfiliacionType
        Liquidacion                                          .ooo....o.  LiquidacionType
      PrecioUnitarioItem                                     RRRRRRRRRR  Decimal20D1or4ValidationTypeMayorIgualCero
      DescuentoMonto                                         ooooo.ooo.  Decimal18D1or2ValidationTypeMayorIgualCero
      TablaSubDescuento                                      ooooo.ooo.
        SubDescuento                                         RRRRR.RRR.  x12
          TipoSubDescuento                                   RRRRR.RRR.  TipoDescuentoRecargoType
          SubDescuentoPorcentaje                             ooooo.ooo.  Decimal5D1or2ValidationTypeMayorCero
          MontoSubDescuento                                  ooooo.ooo.  Decimal18D1or2ValidationTypeMayorIgualCero
      RecargoMonto                                           ooooo.ooo.  Decimal18D1or2ValidationTypeMayorIgualCero
      TablaSubRecargo                                        ooooo.ooo.
        SubRecargo                                           RRRRR.RRR.  x12
          TipoSubRecargo                                     RRRRR.RRR.  TipoDescuentoRecargoType
          SubRecargoPorcentaje                               ooooo.ooo.  Decimal5D1or2ValidationTypeMayorCero
          MontoSubRecargo                                    ooooo.ooo.  Decimal18D1or2ValidationTypeMayorIgualCero
      TablaImpuestoAdicional                                 oooo..oo..
        ImpuestoAdicional                                    RRRR..RR..  x2
          TipoImpuesto                                       RRRR..RR..  CodificacionTipoImpuestosType
      OtraMonedaDetalle                                      oooooooooo
        PrecioOtraMoneda                                     oooooooooo  Decimal20D1or4ValidationTypeMayorIgualCero
        DescuentoOtraMoneda                                  oooooooooo  Decimal18D1or2ValidationTypeMayorIgualCero
        RecargoOtraMoneda                                    oooooooooo  Decimal18D1or2ValidationTypeMayorIgualCero
        MontoItemOtraMoneda                                  oooooooooo  Decimal18D1or2ValidationTypeMayorIgualCero
      MontoItem                                              RRRRRRRRRR  Decimal18D1or2ValidationTypeMayorIgualCero
  Subtotales                                                 oooooooooo
    Subtotal                                                 RRRRRRRRRR  x20
      NumeroSubTotal                                         oooooooooo  Integer2ValidationType
      DescripcionSubtotal                                    oooooooooo  AlfNum40Type
      Orden                                                  oooooooooo  Integer2ValidationType
      SubTotalMontoGravadoTotal                              ooooo..oo.  Decimal18D1or2ValidationTypeMayorIgualCero
      SubTotalMontoGravadoI1                                 ooooo..o..  Decimal18D1or2ValidationTypeMayorIgualCero
      SubTotalMontoGravadoI2                                 ooooo..o..  Decimal18D1or2ValidationTypeMayorIgualCero
      SubTotalMontoGravadoI3                                 ooooo..oo.  Decimal18D1or2ValidationTypeMayorIgualCero
      SubTotaITBIS                                           ooooo..oo.  Decimal18D1or2ValidationTypeMayorIgualCero
      SubTotaITBIS1                                          ooooo..o..  Decimal18D1or2ValidationTypeMayorIgualCero
      SubTotaITBIS2                                          ooooo..o..  Decimal18D1or2ValidationTypeMayorIgualCero
      SubTotaITBIS3                                          ooooo..oo.  Decimal18D1or2ValidationTypeMayorIgualCero
      SubTotalImpuestoAdicional                              ooooo.oo..  Decimal18D1or2ValidationTypeMayorIgualCero
      SubTotalExento                                         oooooooo.o  Decimal18D1or2ValidationTypeMayorIgualCero
      MontoSubTotal                                          oooooooooo  Decimal18D1or2ValidationTypeMayorIgualCero
      Lineas                                                 oooooooooo  Integer2ValidationType
  DescuentosORecargos                                        ooooo.ooo.
    DescuentoORecargo                                        RRRRR.RRR.  x20
      NumeroLinea                                            RRRRR.RRR.  Integer2ValidationType
      TipoAjuste                                             RRRRR.RRR.  TipoAjusteType
      IndicadorNorma1007                                     oooo...o..  IndicadorNorma1007Type
      DescripcionDescuentooRecargo                           ooooo.ooo.  AlfNum45Type
      TipoValor                                              ooooo.ooo.  TipoDescuentoRecargoType
      ValorDescuentooRecargo                                 ooooo.ooo.  Decimal5D1or2ValidationTypeMayorCero
      MontoDescuentooRecargo                                 ooooo.ooo.  Decimal18D1or2ValidationTypeMayorIgualCero
      MontoDescuentooRecargoOtraMoneda                       ooooo.ooo.  Decimal18D1or2ValidationTypeMayorIgualCero
      IndicadorFacturacionDescuentooRecargo                  ooooo.ooo.  IndicadorFacturacionDRType
  Paginacion                                                 oooooooooo
    Pagina                                                   RRRRRRRRRR  x1000 33,34=x10000
      PaginaNo                                               oooooooooo  Integer4V1To1000ValidationType 33,34=Integer5V1To10000ValidationType
      NoLineaDesde                                           oooooooooo  Integer4V1To1000ValidationType 33,34=Integer5V1To10000ValidationType
      NoLineaHasta                                           oooooooooo  Integer4V1To1000ValidationType 33,34=Integer5V1To10000ValidationType
      SubtotalMontoGravadoPagina                             ooooo..oo.  Decimal18D1or2ValidationTypeMayorIgualCero
      SubtotalMontoGravado1Pagina                            ooooo..o..  Decimal18D1or2ValidationTypeMayorIgualCero
      SubtotalMontoGravado2Pagina                            ooooo..o..  Decimal18D1or2ValidationTypeMayorIgualCero
      SubtotalMontoGravado3Pagina                            ooooo..oo.  Decimal18D1or2ValidationTypeMayorIgualCero
      SubtotalExentoPagina                                   oooooooo.o  Decimal18D1or2ValidationTypeMayorIgualCero
      SubtotalItbisPagina                                    ooooo..oo.  Decimal18D1or2ValidationTypeMayorIgualCero
      SubtotalItbis1Pagina                                   ooooo..o..  Decimal18D1or2ValidationTypeMayorIgualCero
      SubtotalItbis2Pagina                                   ooooo..o..  Decimal18D1or2ValidationTypeMayorIgualCero
      SubtotalItbis3Pagina                                   ooooo..oo.  Decimal18D1or2ValidationTypeMayorIgualCero
      SubtotalImpuestoAdicionalPagina                        oooo..oo..  Decimal18D1or2ValidationTypeMayorCero
      SubtotalImpuestoAdicional                              oooo..oo..
        SubtotalImpuestoSelectivoConsumoEspecificoPagina     oooo...o..  Decimal18D1or2ValidationTypeMayorCero
        SubtotalOtrosImpuesto                                oooo..oo..  Decimal18D1or2ValidationTypeMayorCero
      MontoSubtotalPagina                                    oooooooooo  Decimal18D1or2ValidationTypeMayorIgualCero
      SubtotalMontoNoFacturablePagina                        oooo..ooo.  Decimal18D1or2ValidationTypeMayorIgualCero
  InformacionReferencia                                      ooRRoooooo
    NCFModificado                                            ooRRoooooo  AlfNum11a19ValidationType
    RNCOtroContribuyente                                     oooooooooo  RNCValidationType
    FechaNCFModificado                                       ooRRoooooo  FechaValidationType
    CodigoModificacion                                       ooRRoooooo  CodigoModificacionType
    RazonModificacion                                        ..oo......  AlfNum90ValidationType
  FechaHoraFirma                                             RRRRRRRRRR  DateTimeValidationType
`;
