import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import type { BatchFile } from '../../data/batch-file.js';
import { useSendFile, useSentBatch } from '../../data/batches.js';
import { sentFiles } from '../../data/sent-files.js';
import { Fault } from '../../ui/fault.js';
import { Loaded } from '../../ui/loaded.js';
import { AlreadySent } from './already-sent.js';
import { Checked } from './checked.js';
import { FileSummary } from './file-summary.js';

interface SendFileProps {
  file: BatchFile;
  /** Takes some lines of the file in its place. */
  onReplace: (file: BatchFile) => void;
}

/** What a file holds, its check, and then its submission. A file that was sent before leads to its batch. */
export function SendFile({ file, onReplace }: SendFileProps) {
  const sent = useSentBatch(file);
  return (
    <section aria-live="polite">
      <FileSummary file={file} />
      <Loaded query={sent}>
        {(batch) =>
          batch === null ? (
            <CheckAndSend file={file} onReplace={onReplace} />
          ) : (
            <AlreadySent file={file} batch={batch} onReplace={onReplace} />
          )
        }
      </Loaded>
    </section>
  );
}

function CheckAndSend({ file, onReplace }: SendFileProps) {
  const words = useTranslations('batches');
  const navigate = useNavigate();
  const [checkId, setCheckId] = useState<string | null>(null);
  const post = useSendFile();
  const check = () =>
    post.mutate(
      { file, validate: true },
      {
        onSuccess: ({ batch_id }) => {
          sentFiles.set(batch_id, file);
          setCheckId(batch_id);
        },
      },
    );
  const send = (contingency: boolean) =>
    post.mutate(
      { file, validate: false, contingency },
      {
        onSuccess: ({ batch_id }) => {
          sentFiles.set(batch_id, file);
          return navigate({ to: '/batches/$id', params: { id: batch_id } });
        },
      },
    );
  return (
    <>
      {checkId === null && (
        <div className="actions">
          <button type="button" className="main" disabled={post.isPending} onClick={check}>
            {post.isPending ? words('uploading') : words('check')}
          </button>
          <span className="quiet">{words('checkHint')}</span>
        </div>
      )}
      {checkId !== null && (
        <Checked batchId={checkId} file={file} isSending={post.isPending} onSend={send} onReplace={onReplace} />
      )}
      <Fault error={post.error} />
    </>
  );
}
