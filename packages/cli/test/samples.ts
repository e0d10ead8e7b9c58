interface Invoice {
  ECF: {
    Encabezado: {
      IdDoc: Record<string, unknown>;
      Comprador: Record<string, unknown>;
      Totales: Record<string, unknown>;
      [group: string]: unknown;
    };
    [group: string]: unknown;
  };
}

/** A consumer invoice of RD$ 1,180.00, which is submitted as a summary. */
export function consumerInvoice(encf = 'E320000000001'): Invoice {
  return {
    ECF: {
      Encabezado: {
        Version: '1.0',
        IdDoc: { TipoeCF: '32', eNCF: encf, IndicadorMontoGravado: '0', TipoIngresos: '01', TipoPago: '1' },
        Emisor: {
          RNCEmisor: '130000001',
          RazonSocialEmisor: 'Ferretería "El Ñandú" & Hijos',
          DireccionEmisor: 'Calle Duarte 1',
          FechaEmision: '23-06-2026',
        },
        Comprador: { RazonSocialComprador: 'Cliente de contado' },
        Totales: {
          MontoGravadoTotal: '1000.00',
          MontoGravadoI1: '1000.00',
          ITBIS1: '18',
          TotalITBIS: '180.00',
          TotalITBIS1: '180.00',
          MontoTotal: '1180.00',
        },
      },
      DetallesItems: {
        Item: [
          {
            NumeroLinea: '1',
            IndicadorFacturacion: '1',
            NombreItem: "Clavos de 3'' <acero>",
            IndicadorBienoServicio: '1',
            CantidadItem: '2.00',
            UnidadMedida: '43',
            PrecioUnitarioItem: '500.00',
            MontoItem: '1000.00',
          },
        ],
      },
    },
  };
}

/** A tax credit invoice, which is submitted in full. */
export function creditInvoice(encf = 'E310000000001'): Invoice {
  const invoice = consumerInvoice(encf);
  const { IdDoc, Comprador } = invoice.ECF.Encabezado;
  invoice.ECF.Encabezado.IdDoc = {
    TipoeCF: '31',
    eNCF: encf,
    FechaVencimientoSecuencia: '31-12-2028',
    ...Object.fromEntries(Object.entries(IdDoc).filter(([name]) => name !== 'TipoeCF' && name !== 'eNCF')),
  };
  invoice.ECF.Encabezado.Comprador = { RNCComprador: '131880681', ...Comprador };
  return invoice;
}
