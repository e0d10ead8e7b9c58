import { type RefObject, useEffect, useRef, useState } from 'react';

/** The width of an element in pixels, 0 until it is known, and the reference that names the element. */
export function useWidth<E extends Element>(): readonly [RefObject<E | null>, number] {
  const element = useRef<E>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.floor(entry.contentRect.width)));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}
