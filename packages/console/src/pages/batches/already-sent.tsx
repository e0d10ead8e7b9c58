import { Link } from '@tanstack/react-router';
import { useTranslations } from 'use-intl';
import { type BatchFile, someLines } from '../../data/batch-file.js';
import { type Batch, isOpen, refusedResults } from '../../data/batches.js';
import { usePlace } from '../../data/place.js';
import { sentFiles } from '../../data/sent-files.js';
import { useFormats } from '../../ui/format.js';

interface AlreadySentProps {
  file: BatchFile;
  batch: Batch;
  onReplace: (file: BatchFile) => void;
}

/** Leads to the batch of a file that was sent before. Its refused lines can be sent again, once their cause is removed. */
export function AlreadySent({ file, batch, onReplace }: AlreadySentProps) {
  const words = useTranslations('batches');
  const { moment } = useFormats();
  const { env } = usePlace();
  const { batch_id, created_at, refused } = batch;
  sentFiles.set(batch_id, file);
  const again = async () => {
    const lines = (await refusedResults(env, batch_id)).map(({ line }) => line);
    onReplace(someLines(file, lines, batch_id));
  };
  return (
    <>
      <p>
        {words('alreadySent', { time: moment(created_at) })}{' '}
        <Link to="/batches/$id" params={{ id: batch_id }}>
          {words('named', { id: batch_id })}
        </Link>
      </p>
      {refused > 0 && !isOpen(batch) && (
        <div className="actions">
          <button type="button" onClick={again}>
            {words('refusedAgain', { count: refused })}
          </button>
        </div>
      )}
    </>
  );
}
