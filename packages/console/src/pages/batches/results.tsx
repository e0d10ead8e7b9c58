import { Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { type Batch, type BatchResult, type Count, refusalOf, useBatchResults } from '../../data/batches.js';
import { sentFiles } from '../../data/sent-files.js';
import { Explanation } from '../../ui/fault.js';
import { FaultText } from '../../ui/fault-list.js';
import { Loaded } from '../../ui/loaded.js';
import { Status } from '../../ui/status.js';
import { type Column, Table } from '../../ui/table.js';

interface ResultsProps {
  batch: Batch;
  only: Count | undefined;
  after: string | undefined;
}

/** A page of the results of a batch. */
export function Results({ batch, only, after }: ResultsProps) {
  const words = useTranslations('batches');
  const page = useBatchResults(batch, only, after);
  const params = { id: batch.batch_id };
  return (
    <Loaded query={page}>
      {({ results, next }) => (
        <>
          {results.length === 0 ? (
            <p className="quiet">{words('noResults')}</p>
          ) : (
            <Rows results={results} batch={batch} />
          )}
          <nav className="pages" aria-label={words('results')}>
            {after !== undefined && (
              <Link to="/batches/$id" params={params} search={only && { only }}>
                {words('first')}
              </Link>
            )}
            {next !== null && (
              <Link to="/batches/$id" params={params} search={{ ...(only && { only }), after: next }}>
                {words('next')}
              </Link>
            )}
          </nav>
        </>
      )}
    </Loaded>
  );
}

function Rows({ results, batch }: { results: readonly BatchResult[]; batch: Batch }) {
  const words = useTranslations('batches');
  const csv = sentFiles.get(batch.batch_id)?.csv;
  const row = (line: number) => csv?.invoices[line - 1]?.rows[0]?.number;
  const columns: Column<BatchResult>[] = [
    {
      head: words('line'),
      cell: ({ line }) => (
        <>
          {line}
          {row(line) !== undefined && <small>{words('row', { row: row(line) as number })}</small>}
        </>
      ),
    },
    { head: words('document'), cell: (result) => <Document result={result} validate={batch.validate} /> },
    { head: words('status'), cell: (result) => <Outcome result={result} /> },
    ...(results.some(hasRemarks)
      ? [{ head: words('wrong'), cell: (result: BatchResult) => <Remarks result={result} /> }]
      : []),
  ];
  return <Table caption={words('results')} columns={columns} rows={results} rowKey={({ line }) => String(line)} />;
}

function Document({ result, validate }: { result: BatchResult; validate: boolean }) {
  const words = useTranslations('batches');
  const { encf, issuer_rnc, reference, status } = result;
  const isIssued = encf !== null && issuer_rnc !== null && status !== null && !validate;
  return (
    <>
      {isIssued ? (
        <Link to="/invoices/$rnc/$encf" params={{ rnc: issuer_rnc, encf }}>
          {encf}
        </Link>
      ) : (
        (encf ?? <span className="quiet">{words('noNumber')}</span>)
      )}
      {reference !== null && <small dir="auto">{reference}</small>}
    </>
  );
}

function Outcome({ result: { status, error } }: { result: BatchResult }) {
  const words = useTranslations('batches');
  if (error !== null) return <span className="status bad">{words('counts.refused')}</span>;
  if (status === null) return <span className="status wait">{words('counts.pending')}</span>;
  return status === 'Validado' ? <span className="status good">{words('valid')}</span> : <Status status={status} />;
}

const SHOWN = 5;

/** What is wrong with a line: the faults of its document, else the reason of the refusal or the authority's messages. */
function Remarks({ result }: { result: BatchResult }) {
  const words = useTranslations('batches');
  const { faults, warnings } = result;
  const more = faults.length - SHOWN;
  return (
    <ul className="reasons">
      {faults.slice(0, SHOWN).map((fault) => (
        <li key={keyOf(fault)}>
          <FaultText fault={fault} />
        </li>
      ))}
      {more > 0 && <li className="quiet">{words('more', { count: more })}</li>}
      {faults.length === 0 && <Reasons result={result} />}
      {warnings.map((fault) => (
        <li key={keyOf(fault)} className="quiet">
          {words('warning')} <FaultText fault={fault} />
        </li>
      ))}
    </ul>
  );
}

const keyOf = ({ path, rule }: BatchResult['faults'][number]) => `${path} ${rule}`;
const hasRemarks = ({ faults, error, messages, warnings }: BatchResult) =>
  error !== null || faults.length + messages.length + warnings.length > 0;

/** Why a line without faults was refused, or what the authority said about it. */
function Reasons({ result: { error, messages } }: { result: BatchResult }) {
  if (error !== null)
    return (
      <li>
        <Explanation error={refusalOf(error)} />
      </li>
    );
  return messages.map(sentenceOf).map((sentence) => <li key={sentence}>{sentence}</li>);
}

const sentenceOf = (message: BatchResult['messages'][number]) =>
  typeof message === 'string' ? message : `${message.codigo} ${message.valor}`.trim();
