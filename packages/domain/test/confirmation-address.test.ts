import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { Environment } from '../src/authority/environment.js';
import { confirmationAddress } from '../src/document/confirmation-address.js';
import type { DocumentNode } from '../src/document/document-tree.js';
import { changed, example, SHARED } from './documents.js';

/** Addresses are compared as the authority reads them: host, path and names in any case, values decoded, in order. */
function parsed(address: string) {
  const url = new URL(address);
  return {
    origin: url.origin,
    path: url.pathname.toLowerCase(),
    parameters: [...url.searchParams].map(([name, value]) => [name.toLowerCase(), value]),
  };
}

function ecf(type: string, values: Record<string, string>, buyer?: string): DocumentNode {
  return {
    ECF: {
      Encabezado: {
        IdDoc: { TipoeCF: type, eNCF: values.encf! },
        Emisor: { RNCEmisor: values.issuer!, FechaEmision: values.issued ?? '10-10-2020' },
        ...(buyer === undefined ? {} : { Comprador: { RNCComprador: buyer } }),
        Totales: { MontoTotal: values.total! },
      },
      FechaHoraFirma: values.signed ?? '10-10-2020 09:00:00',
    },
  };
}

const SIGNED = { FechaHoraFirma: '15-06-2026 10:20:30' };

describe('the confirmation address', () => {
  it('is the one printed for a full document', () => {
    const address = confirmationAddress({
      env: 'TesteCF',
      tree: ecf('31', { encf: 'e310000000001', issuer: '130000001', total: '02.11' }, '130000002'),
      securityCode: 'dcp79q',
    });
    expect(parsed(address)).toEqual(
      parsed(
        'https://ecf.dgii.gov.do/testecf/consultatimbre?rncemisor=130000001&rnccomprador=130000002&encf=e310000000001&fechaemision=10-10-2020&montototal=02.11&fechafirma=10-10-2020%2009:00:00&codigoseguridad=dcp79q',
      ),
    );
    expect(address).toContain('FechaFirma=10-10-2020%2009:00:00&');
  });

  it('is the one printed for a consumer document below the limit', () => {
    const address = confirmationAddress({
      env: 'TesteCF',
      tree: ecf('32', { encf: 'e320000000064', issuer: '131880738', total: '6225.09' }, '130000002'),
      securityCode: 'uabnyh',
    });
    expect(parsed(address)).toEqual(
      parsed(
        'https://fc.dgii.gov.do/testecf/consultatimbrefc?rncemisor=131880738&encf=e320000000064&montototal=6225.09&codigoseguridad=uabnyh',
      ),
    );
  });

  it('is written as the printed templates are', () => {
    expect(confirmationAddress({ env: 'eCF', tree: changed(example('ecf-31'), SIGNED), securityCode: 'a+b/c=' })).toBe(
      'https://ecf.dgii.gov.do/ecf/ConsultaTimbre?RncEmisor=199999991&RncComprador=188888885&ENCF=E310000000001&FechaEmision=15-06-2026&MontoTotal=11430.00&FechaFirma=15-06-2026%2010:20:30&CodigoSeguridad=a%2Bb%2Fc%3D',
    );
    expect(confirmationAddress({ env: 'CerteCF', tree: example('ecf-32'), securityCode: '++//AA' })).toBe(
      'https://fc.dgii.gov.do/certecf/ConsultaTimbreFC?RncEmisor=199999991&ENCF=E320000000001&MontoTotal=1180.00&CodigoSeguridad=%2B%2B%2F%2FAA',
    );
  });

  it('is the same from the summary as from the document it summarises', () => {
    expect(confirmationAddress({ env: 'eCF', tree: example('rfce'), securityCode: 'aB3+x/' })).toBe(
      confirmationAddress({ env: 'eCF', tree: example('ecf-32'), securityCode: 'aB3+x/' }),
    );
  });

  it('names the full document of a consumer invoice from 250,000.00 on', () => {
    const address = confirmationAddress({
      env: 'eCF',
      tree: changed(example('ecf-32-large'), SIGNED),
      securityCode: 'abcdef',
    });
    expect(address).toMatch(/^https:\/\/ecf\.dgii\.gov\.do\/ecf\/ConsultaTimbre\?/);
  });

  it.each(['ecf-43', 'ecf-47', 'ecf-46'])('leaves the buyer out where %s has none', (name) => {
    const address = confirmationAddress({ env: 'eCF', tree: changed(example(name), SIGNED), securityCode: 'abcdef' });
    expect(parsed(address).parameters.map(([key]) => key)).toEqual([
      'rncemisor',
      'encf',
      'fechaemision',
      'montototal',
      'fechafirma',
      'codigoseguridad',
    ]);
  });

  it('needs its values', () => {
    expect(() => confirmationAddress({ env: 'eCF', tree: example('ecf-31'), securityCode: 'abcdef' })).toThrow(
      /FechaHoraFirma/,
    );
    expect(() => confirmationAddress({ env: 'eCF', tree: {}, securityCode: 'abcdef' })).toThrow(RangeError);
  });

  (SHARED === null ? it.skip : it)('meets every official example (skipped when the shared folder is absent)', () => {
    type Example = { expected_url?: string; inputs: Record<string, string> };
    const { official }: { official: Example[] } = JSON.parse(readFileSync(`${SHARED}facts/qr.json`, 'utf8'));
    const complete = official.filter((entry) => entry.expected_url !== undefined);
    expect(complete.length).toBeGreaterThan(0);
    for (const { expected_url, inputs } of complete) {
      const tree = ecf(
        inputs.ENCF!.slice(1, 3),
        { encf: inputs.ENCF!, issuer: inputs.RncEmisor!, total: inputs.MontoTotal!, ...dates(inputs) },
        inputs.RncComprador,
      );
      const address = confirmationAddress({
        env: inputs.env as Environment,
        tree,
        securityCode: inputs.CodigoSeguridad!,
      });
      expect(parsed(address)).toEqual(parsed(expected_url!));
    }
  });
});

function dates(inputs: Record<string, string>): Record<string, string> {
  return { issued: inputs.FechaEmision ?? '10-10-2020', signed: inputs.FechaFirma ?? '10-10-2020 09:00:00' };
}
