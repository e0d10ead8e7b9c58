import { ChevronsUpDown } from 'lucide-react';
import { useState } from 'react';
import { useTranslations } from 'use-intl';
import type { Schemas } from '../data/gateway.js';
import { Dialog } from '../ui/dialog.js';
import { Choice, Field } from '../ui/field.js';
import { useFormats } from '../ui/format.js';

type Taxpayer = Schemas['OwnAccount']['taxpayers'][number];

/** More taxpayers than these are searched instead of listed. */
const LISTED = 12;
const MOST_FOUND = 20;

interface TaxpayerChoiceProps {
  taxpayers: readonly Taxpayer[];
  rnc: string;
  onChange: (rnc: string) => void;
}

/** Chooses the taxpayer that the pages show: from a list, or by a search where there are many. */
export function TaxpayerChoice({ taxpayers, rnc, onChange }: TaxpayerChoiceProps) {
  const words = useTranslations('place');
  const [isSearching, search] = useState(false);
  if (taxpayers.length <= LISTED)
    return (
      <Choice
        label={words('taxpayer')}
        value={rnc}
        options={taxpayers.map((one) => [one.rnc, one.name])}
        onChange={onChange}
      />
    );
  const choose = (chosen: string) => {
    search(false);
    onChange(chosen);
  };
  return (
    <>
      <Field label={words('taxpayer')}>
        {(ids) => (
          <button {...ids} type="button" className="chosen" onClick={() => search(true)}>
            <bdi>{taxpayers.find((one) => one.rnc === rnc)?.name}</bdi>
            <ChevronsUpDown size={16} aria-hidden="true" />
          </button>
        )}
      </Field>
      {isSearching && (
        <Dialog title={words('search')} onClose={() => search(false)}>
          <Search taxpayers={taxpayers} choose={choose} />
        </Dialog>
      )}
    </>
  );
}

function Search({ taxpayers, choose }: { taxpayers: readonly Taxpayer[]; choose: (rnc: string) => void }) {
  const words = useTranslations('place');
  const { rnc: formatted } = useFormats();
  const [text, setText] = useState('');
  const found = taxpayers.filter(({ name, rnc }) => plain(name).includes(plain(text)) || rnc.includes(digits(text)));
  return (
    <div className="taxpayers">
      <Field label={words('nameOrRnc')}>
        {(ids) => <input {...ids} type="search" value={text} onChange={({ target }) => setText(target.value)} />}
      </Field>
      <ul>
        {found.slice(0, MOST_FOUND).map(({ rnc, name }) => (
          <li key={rnc}>
            <button type="button" onClick={() => choose(rnc)}>
              <bdi>{name}</bdi>
              <small>{formatted(rnc)}</small>
            </button>
          </li>
        ))}
      </ul>
      <p className="quiet" role="status">
        {found.length > MOST_FOUND
          ? words('foundFirst', { count: found.length, shown: MOST_FOUND })
          : words('found', { count: found.length })}
      </p>
    </div>
  );
}

/** Text without accents and capitals. */
const plain = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

/** The digits of a number as people write it; a text without digits matches no RNC. */
const digits = (text: string) => text.replace(/\D/g, '') || 'none';
