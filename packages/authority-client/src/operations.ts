import type { Environment } from '@ecf/domain';
import type { AnswerReader } from './answers/answer-reader.js';
import type { DirectoryEntry } from './answers/verdicts.js';
import { type AuthorityService, STATUS_ENVIRONMENT_NUMBERS } from './endpoints.js';
import { readApproval } from './readers/approvals.js';
import { readCancellation } from './readers/cancellations.js';
import { readDirectory, readDirectoryEntry } from './readers/directory.js';
import { readDecision, readDocumentState, readReceipt, readTrackIds, readVerdict } from './readers/documents.js';
import { readIssuedToken, readSeed } from './readers/login.js';
import { readEnvironmentStatus, readMaintenanceWindows, readServiceStatus } from './readers/status.js';
import { documentFileName, type FilePart } from './transport/multipart.js';

/** The input of every operation of the authority. */
export interface AuthorityInput {
  env: Environment;
  /** Ends the call early; the answer is then `unknown`, cause `aborted`. */
  signal?: AbortSignal | undefined;
  /** RNC of the taxpayer in whose name the call is made. Operations on a document take its issuer, or else its buyer. */
  taxpayer?: string | undefined;
}

/** The same with the bearer token of a login. */
interface AuthorisedInput extends AuthorityInput {
  token: string;
}

/** `statusKey` is issued by the authority on request; it has nothing to do with tokens and certificates. */
interface StatusInput extends AuthorityInput {
  statusKey: string;
}

/** A document by its number. */
interface DocumentInput extends AuthorisedInput {
  issuerRnc: string;
  encf: string;
}

/** A signed document; a string is sent as UTF-8 without BOM, bytes as they are. */
export type SignedDocument = string | Uint8Array;

export interface Operation<I extends AuthorityInput, V> {
  service: AuthorityService;
  path: string;
  query?: (input: I) => Record<string, string | undefined>;
  /** The file to post; without one the call is a GET. */
  file?: (input: I) => FilePart;
  accept?: string;
  maxAnswerBytes?: number;
  /** Characters of the answer that are kept unchanged; default 65,536. */
  maxRawCharacters?: number;
  login?: boolean;
  read: (input: I) => AnswerReader<V>;
}

/** The documents of the authority that are XML whatever the caller accepts. */
export const XML_FIRST = 'application/xml, text/xml;q=0.9, */*;q=0.5';
const MAX_DIRECTORY_BYTES = 64 * 1024 * 1024;
/** A cancellation's refused numbers are named, up to a hundred thousand ranges. */
const MAX_CANCELLATION_BYTES = 16 * 1024 * 1024;

const operation = <I extends AuthorityInput, V>(row: Operation<I, V>): Operation<I, V> => row;
const named = ({ issuerRnc, encf }: DocumentInput) => ({ rnc: issuerRnc, encf });
const documentFile = (input: DocumentInput & { xml: SignedDocument }): FilePart => ({
  filename: documentFileName(input.issuerRnc, input.encf),
  content: input.xml,
});

/** Every operation of the authority. Sections are those of the contract (facts/authority-contract.md). */
export const OPERATIONS = {
  /** A seed to sign (section 2.1). */
  requestSeed: operation({
    service: 'autenticacion',
    path: 'api/autenticacion/semilla',
    accept: XML_FIRST,
    read: (_: AuthorityInput) => readSeed,
  }),
  /**
   * Exchanges a signed seed for a token (sections 2.2 and 2.3). `refused` `login_refused` is final for this certificate; a temporary
   * failure of the authority (a timeout of its certificate check) is `unknown`.
   */
  validateSeed: operation({
    service: 'autenticacion',
    path: 'api/autenticacion/validarsemilla',
    file: (input: AuthorityInput & { signedSeed: SignedDocument }) => ({
      filename: 'semilla.xml',
      content: input.signedSeed,
    }),
    login: true,
    read: () => readIssuedToken,
  }),
  /**
   * Submits a full e-CF, any type but a 32 under 250,000 (section 3). The receipt carries the trackId; the verdict on the content
   * comes later through `queryResult`.
   */
  submitDocument: operation({
    service: 'recepcion',
    path: 'api/facturaselectronicas',
    file: documentFile,
    read: () => readReceipt,
  }),
  /**
   * Submits the summary (RFCE) of a type 32 under 250,000 (section 5). The answer is the verdict, a rejection also with status 400.
   * An answer that decides nothing, or is about another number, is `unknown`.
   */
  submitConsumerSummary: operation({
    service: 'recepcionfc',
    path: 'api/recepcion/ecf',
    file: documentFile,
    read: (input) => readDecision(named(input)),
  }),
  /** The verdict on a submitted e-CF by its trackId (section 4). An answer that names another document is `unknown`. */
  queryResult: operation({
    service: 'consultaresultado',
    path: 'api/consultas/estado',
    query: ({ trackId }: DocumentInput & { trackId: string }) => ({ trackid: trackId }),
    read: (input) => readVerdict({ trackId: input.trackId, ...named(input) }),
  }),
  /** The state of a document by its data (section 7); the authority demands the buyer's RNC if there is one. Not in CerteCF. */
  queryState: operation({
    service: 'consultaestado',
    path: 'api/consultas/estado',
    query: (input: DocumentInput & { buyerRnc?: string | undefined; securityCode?: string | undefined }) => ({
      rncemisor: input.issuerRnc,
      ncfelectronico: input.encf,
      rnccomprador: input.buyerRnc,
      codigoseguridad: input.securityCode,
    }),
    read: (input) => readDocumentState(named(input)),
  }),
  /** All submissions of an eNCF (section 8). Not in CerteCF. */
  queryTrackIds: operation({
    service: 'consultatrackids',
    path: 'api/trackids/consulta',
    query: ({ issuerRnc, encf }: DocumentInput) => ({ rncemisor: issuerRnc, encf }),
    read: (input) => readTrackIds(named(input)),
  }),
  /** The verdict on a consumer summary (section 6). The security code is that of the full signed e-CF. */
  queryConsumerSummary: operation({
    service: 'consultarfce',
    path: 'api/Consultas/Consulta',
    query: ({ issuerRnc, encf, securityCode }: DocumentInput & { securityCode: string }) => ({
      RNC_Emisor: issuerRnc,
      ENCF: encf,
      Cod_Seguridad_eCF: securityCode,
    }),
    read: (input) => readVerdict(named(input)),
  }),
  /** Gives the authority its copy of a buyer's decision, a signed ACECF (section 9). */
  submitCommercialApproval: operation({
    service: 'aprobacioncomercial',
    path: 'api/aprobacioncomercial',
    file: (input: AuthorisedInput & { buyerRnc: string; encf: string; xml: SignedDocument }) => ({
      filename: documentFileName(input.buyerRnc, input.encf),
      content: input.xml,
    }),
    read: ({ encf }) => readApproval({ encf }),
  }),
  /** Annuls ranges of numbers by a signed ANECF (section 10). Not in CerteCF. No rule for its file name is published. */
  submitCancellation: operation({
    service: 'anulacionrangos',
    path: 'api/operaciones/anularrango',
    file: (input: AuthorisedInput & { issuerRnc: string; xml: SignedDocument }) => ({
      filename: `${input.issuerRnc}.xml`,
      content: input.xml,
    }),
    maxAnswerBytes: MAX_CANCELLATION_BYTES,
    maxRawCharacters: MAX_CANCELLATION_BYTES,
    read: ({ issuerRnc }) => readCancellation({ rnc: issuerRnc }),
  }),
  /** All authorised taxpayers with their receivers' addresses (section 11). Not in CerteCF. */
  listDirectory: operation({
    service: 'consultadirectorio',
    path: 'api/consultas/listado',
    maxAnswerBytes: MAX_DIRECTORY_BYTES,
    read: (_: AuthorisedInput) => readDirectory,
  }),
  /** One taxpayer of the directory, null if the authority lists none (section 11). Not in CerteCF. */
  findInDirectory: operation<AuthorisedInput & { rnc: string }, DirectoryEntry | null>({
    service: 'consultadirectorio',
    path: 'api/consultas/obtenerdirectorioporrnc',
    query: ({ rnc }) => ({ RNC: rnc }),
    read: ({ rnc }) => readDirectoryEntry({ rnc }),
  }),
  /** Which of the authority's services are up, in the environments that it reports (not CerteCF; section 14). */
  serviceStatus: operation({
    service: 'estatusservicios',
    path: 'obtenerestatus',
    read: (_: StatusInput) => readServiceStatus,
  }),
  /** Announced maintenance windows of all environments (section 14). */
  maintenanceWindows: operation({
    service: 'estatusservicios',
    path: 'obtenerventanasmantenimiento',
    read: (_: StatusInput) => readMaintenanceWindows,
  }),
  /** Whether one environment is up; unavailable means inside a maintenance window (section 14). */
  environmentStatus: operation({
    service: 'estatusservicios',
    path: 'verificarestado',
    query: ({ env }: StatusInput) => ({ ambiente: STATUS_ENVIRONMENT_NUMBERS[env] }),
    read: () => readEnvironmentStatus,
  }),
};
