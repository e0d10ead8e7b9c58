import { useMutation } from '@tanstack/react-query';
import { useTranslations } from 'use-intl';
import type { BatchFile } from '../../data/batch-file.js';
import { type BatchResult, refusalOf, refusedResults } from '../../data/batches.js';
import { usePlace } from '../../data/place.js';
import { sentFiles } from '../../data/sent-files.js';
import { Fault } from '../../ui/fault.js';
import { placeOf, useFaultText } from '../../ui/fault-list.js';
import { save } from '../../ui/files.js';
import { problemText } from '../../ui/problem.js';

/** Saves the refused lines of a batch to correct them, or what is wrong with them where the page no longer has the file. */
export function RefusedFile({ batchId }: { batchId: string }) {
  const words = useTranslations('batches');
  const { env } = usePlace();
  const file = sentFiles.get(batchId);
  const reason = useReason();
  const download = useMutation({
    mutationFn: async () => {
      const results = await refusedResults(env, batchId);
      if (file === undefined) return save(`lote-${batchId}.csv`, await list(results, reason));
      const [base] = file.name.split('.');
      save(`${base}-${batchId}.${file.csv ? 'csv' : 'ndjson'}`, await linesOf(file, results, reason));
    },
  });
  return (
    <>
      <button type="button" disabled={download.isPending} onClick={() => download.mutate()}>
        {file === undefined ? words('refusedList') : words('refusedFile')}
      </button>
      <Fault error={download.error} />
    </>
  );
}

/** The lines of a file that were refused, in its own format. In CSV they have what is wrong beside them. */
async function linesOf(file: BatchFile, results: readonly BatchResult[], reason: Reason): Promise<string> {
  const { csv: rows, lines } = file;
  if (rows === null) return results.map(({ line }) => `${lines[line - 1]}\n`).join('');
  const { refusedFile } = await import('@ecf/csv-invoices');
  return refusedFile(
    rows,
    results.flatMap((result) => {
      const invoice = rows.invoices[result.line - 1];
      return invoice === undefined ? [] : [{ invoice, error: reason(result) }];
    }),
  );
}

async function list(results: readonly BatchResult[], reason: Reason): Promise<string> {
  const { csv } = await import('@ecf/csv-invoices');
  return csv(
    ['line', 'eNCF', 'reference', 'error'],
    results.map((result) => [String(result.line), result.encf ?? '', result.reference ?? '', reason(result)]),
  );
}

type Reason = (result: BatchResult) => string;

/** Words why a line was refused, in the language of the page. */
function useReason(): Reason {
  const state = useTranslations('state');
  const text = useFaultText();
  return ({ faults, error }) => {
    if (faults.length === 0) return error === null ? '' : problemText(refusalOf(error), state);
    return faults.map((fault) => sentence(fault, text(fault))).join(' ');
  };
}

/** The sentences of the check name the place; the words of the console need it beside them. */
const sentence = (fault: BatchResult['faults'][number], text: string) =>
  text === fault.message ? text : `${placeOf(fault)}: ${text}`;
