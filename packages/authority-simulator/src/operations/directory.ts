import { type Answer, type Handler, sentenceAnswer } from '../http/call.js';
import type { Taxpayer } from '../ledger/taxpayers.js';
import type { Simulation } from '../simulation.js';

interface Listing {
  readonly nombre: string;
  readonly rnc: string;
  readonly urlRecepcion: string;
  readonly urlAceptacion: string;
  readonly urlOpcional: string | null;
}

type Directory = Pick<Simulation, 'taxpayers' | 'publicUrl'>;

/** All electronic taxpayers with their addresses; the sandbox also lists the authority's own counterpart. */
export function listDirectory(directory: Directory): Handler {
  return ({ env }) => directoryAnswer(listings(directory, env));
}

/** One taxpayer, as a list of one; an unknown one is an empty list. */
export function findInDirectory(directory: Directory): Handler {
  return ({ env, query }) => {
    const rnc = query.get('rnc');
    if (rnc === null) return sentenceAnswer(400, 'El campo RNC es requerido.');
    return directoryAnswer(listings(directory, env).filter((listing) => listing.rnc === rnc));
  };
}

function listings({ taxpayers, publicUrl }: Directory, env: string): Listing[] {
  const registered = taxpayers.list().flatMap((taxpayer) => listing(taxpayer) ?? []);
  return env === 'TesteCF' ? [counterpart(publicUrl()), ...registered] : registered;
}

function listing(taxpayer: Taxpayer): Listing | null {
  if (!taxpayer.reception_url || !taxpayer.active || !taxpayer.electronic) return null;
  return {
    nombre: taxpayer.name,
    rnc: taxpayer.rnc,
    urlRecepcion: taxpayer.reception_url,
    urlAceptacion: taxpayer.approval_url ?? taxpayer.reception_url,
    urlOpcional: taxpayer.authentication_url,
  };
}

/** The permanent entries of the sandbox. Source: field report. */
function counterpart(url: string): Listing {
  return {
    nombre: 'DGII',
    rnc: '131880681',
    urlRecepcion: `${url}/testecf/emisorreceptor`,
    urlAceptacion: `${url}/testecf/emisorreceptor`,
    urlOpcional: `${url}/Testecf/autenticacion`,
  };
}

function directoryAnswer(value: Listing[]): Answer {
  return { status: 200, body: { root: 'ArrayOfDirectorio', item: 'Directorio', value } };
}
