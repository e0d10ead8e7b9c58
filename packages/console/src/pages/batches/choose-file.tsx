import { template } from '@ecf/csv-invoices';
import { type DragEvent, useState } from 'react';
import { useTranslations } from 'use-intl';
import { headerDay } from '../../data/invoices.js';
import { useAccount, usePlace } from '../../data/place.js';
import { save } from '../../ui/files.js';
import { dayBefore } from '../../ui/format.js';

interface ChooseFileProps {
  /** Of the file that was chosen before. */
  name: string | undefined;
  onChoose: (file: File) => void;
}

/** Takes a file that is chosen or dropped. */
export function ChooseFile({ name, onChoose }: ChooseFileProps) {
  const words = useTranslations('batches');
  const [isOver, setOver] = useState(false);
  const choose = (files: FileList | null) => {
    setOver(false);
    const [file] = files ?? [];
    if (file !== undefined) onChoose(file);
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    choose(event.dataTransfer.files);
  };
  return (
    <section>
      <label
        className={isOver ? 'drop over' : 'drop'}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <input
          type="file"
          className="unseen"
          accept=".csv,.txt,.json,.ndjson,.jsonl"
          onChange={({ currentTarget }) => {
            choose(currentTarget.files);
            // So that the same file can be chosen again after it was corrected.
            currentTarget.value = '';
          }}
        />
        <strong>{name === undefined ? words('choose') : words('chooseOther')}</strong>
        <span className="quiet">{words('formats')}</span>
      </label>
      <Template />
    </section>
  );
}

function Template() {
  const words = useTranslations('batches');
  const { rnc } = usePlace();
  const taxpayers = useAccount().data?.taxpayers ?? [];
  const download = () => {
    const name = taxpayers.find((one) => one.rnc === rnc)?.name ?? '';
    save(words('templateName'), template({ rnc, name, address: 'Calle Ejemplo 12', day: headerDay(dayBefore(0)) }));
  };
  return (
    <p className="quiet">
      {words('templateHint')}{' '}
      <button type="button" className="plain" onClick={download}>
        {words('template')}
      </button>
    </p>
  );
}
