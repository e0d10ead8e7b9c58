import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Fault } from './fault.js';
import { save, show } from './files.js';

interface FileButtonProps {
  /** Loads the file. */
  get: () => Promise<Blob>;
  /** Saves it under this name; without a name it is shown in a new tab. */
  name?: string;
  className?: string;
  children: ReactNode;
}

/** A button that loads a file and saves or shows it. */
export function FileButton({ get, name, className, children }: FileButtonProps) {
  const file = useMutation({
    mutationFn: get,
    onSuccess: (content) => (name === undefined ? show(content) : save(name, content)),
  });
  return (
    <>
      <button type="button" className={className} disabled={file.isPending} onClick={() => file.mutate()}>
        {children}
      </button>
      <Fault error={file.error} />
    </>
  );
}
