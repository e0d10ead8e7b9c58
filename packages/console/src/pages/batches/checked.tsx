import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { type BatchFile, someLines } from '../../data/batch-file.js';
import { type Batch, isOpen, refusedResults, useBatch } from '../../data/batches.js';
import { usePlace } from '../../data/place.js';
import { Loaded } from '../../ui/loaded.js';
import { Progress } from './progress.js';
import { RefusedFile } from './refused-file.js';
import { Results } from './results.js';

interface CheckedProps {
  batchId: string;
  file: BatchFile;
  isSending: boolean;
  /** Whether the documents are signed also while the authority is unreachable. */
  onSend: (contingency: boolean) => void;
  onReplace: (file: BatchFile) => void;
}

/** The outcome of a check: the file can be sent, or some of its lines have to be corrected. */
export function Checked({ batchId, ...props }: CheckedProps) {
  const batch = useBatch(batchId);
  return (
    <Loaded query={batch}>
      {(data) => {
        if (isOpen(data)) return <Progress batch={data} />;
        return data.refused === 0 ? <Valid batch={data} {...props} /> : <Faulty batch={data} {...props} />;
      }}
    </Loaded>
  );
}

type OutcomeProps = Omit<CheckedProps, 'batchId'> & { batch: Batch };

function Valid({ batch: { total }, isSending, onSend }: OutcomeProps) {
  const words = useTranslations('batches');
  const [contingency, setContingency] = useState(false);
  return (
    <>
      <p className="status good">{words('allValid', { count: total })}</p>
      <label className="contingency">
        <input type="checkbox" checked={contingency} onChange={({ target }) => setContingency(target.checked)} />
        <span>
          {words('contingency')}
          <small>{words('contingencyHint')}</small>
        </span>
      </label>
      <div className="actions">
        <button type="button" className="main" disabled={isSending} onClick={() => onSend(contingency)}>
          {isSending ? words('uploading') : words('send', { count: total })}
        </button>
      </div>
    </>
  );
}

function Faulty({ batch, file, onReplace }: OutcomeProps) {
  const words = useTranslations('batches');
  const { env } = usePlace();
  const valid = batch.total - batch.refused;
  const withoutFaulty = async () => {
    const faulty = new Set((await refusedResults(env, batch.batch_id)).map(({ line }) => line));
    const numbers = file.lines.map((_, index) => index + 1).filter((number) => !faulty.has(number));
    onReplace(someLines(file, numbers));
  };
  return (
    <>
      <p className="status bad">{words('someFaulty', { count: batch.refused, total: batch.total })}</p>
      <div className="actions">
        <RefusedFile batchId={batch.batch_id} />
        {valid > 0 && (
          <button type="button" onClick={withoutFaulty}>
            {words('onlyValid', { count: valid })}
          </button>
        )}
      </div>
      <Results batch={batch} only="refused" after={undefined} />
    </>
  );
}
