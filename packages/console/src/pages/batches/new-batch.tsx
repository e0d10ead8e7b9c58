import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import { type BatchFile, type FileProblem, readBatchFile } from '../../data/batch-file.js';
import './batches.css';
import { ChooseFile } from './choose-file.js';
import { FileProblems } from './file-problems.js';
import { SendFile } from './send-file.js';

/** From a file to a batch: choose, check, send. */
export function NewBatch() {
  const words = useTranslations('batches');
  const [file, setFile] = useState<BatchFile | null>(null);
  const [problems, setProblems] = useState<readonly FileProblem[]>([]);
  const read = async (chosen: File) => {
    const content = await readBatchFile(chosen).catch((): FileProblem[] => [{ kind: 'unreadable' }]);
    setFile('lines' in content ? content : null);
    setProblems('lines' in content ? [] : content);
  };
  return (
    <>
      <p className="quiet">
        <Link to="/batches">{words('title')}</Link>
      </p>
      <h1>{words('new')}</h1>
      <ChooseFile onChoose={read} name={file?.name} />
      {problems.length > 0 && <FileProblems problems={problems} />}
      {file !== null && <SendFile key={file.key} file={file} onReplace={setFile} />}
    </>
  );
}
