// Small drawings: 20 × 20, strokes in the current colour.
const PATHS: Record<string, string> = {
  play: 'M6 4l10 6-10 6z',
  pause: 'M6 4v12M13 4v12',
  stop: 'M5 5h10v10H5z',
  sun: 'M10 6.5a3.5 3.5 0 100 7 3.5 3.5 0 000-7zM10 2v2M10 16v2M2 10h2M16 10h2M4.3 4.3l1.4 1.4M14.3 14.3l1.4 1.4M4.3 15.7l1.4-1.4M14.3 5.7l1.4-1.4',
  moon: 'M16 11.5A6.5 6.5 0 018.5 4 6.5 6.5 0 1016 11.5z',
  search: 'M9 4a5 5 0 100 10A5 5 0 009 4zM13 13l4 4',
  plus: 'M10 4v12M4 10h12',
  close: 'M5 5l10 10M15 5L5 15',
  reset: 'M4 10a6 6 0 106-6H5M8 1L5 4l3 3',
  down: 'M5 8l5 5 5-5',
  right: 'M8 5l5 5-5 5',
  save: 'M4 4h10l2 2v10H4zM7 4v4h6V4M7 16v-4h6v4',
  export: 'M10 3v9M6.5 8.5L10 12l3.5-3.5M4 14v2h12v-2',
  warning: 'M10 3l8 14H2zM10 8v4M10 14.5v.5',
  help: 'M7.5 7.5a2.5 2.5 0 114 2c-1 .7-1.5 1.2-1.5 2.5M10 15v.5',
  trash: 'M4 6h12M8 6V4h4v2M6 6l1 10h6l1-10',
  undo: 'M7 5L3 9l4 4M3 9h9a5 5 0 010 8h-2',
  redo: 'M13 5l4 4-4 4M17 9H8a5 5 0 000 8h2',
  copy: 'M4 4h9v9H4zM7 13v3h9V7h-3',
  turn: 'M15 7a6 6 0 10.8 5M16 3v4h-4',
  curve: 'M2 15c4 0 4-9 8-9s4 6 8 6M2 18h16',
  fit: 'M3 7V3h4M17 7V3h-4M3 13v4h4M17 13v4h-4',
  inside: 'M4 4h12v12H4zM8 8h4v4H8z',
  eye: 'M2 10s3-5 8-5 8 5 8 5-3 5-8 5-8-5-8-5zM10 8a2 2 0 100 4 2 2 0 000-4z',
  // components
  resistor: 'M1 10h4l1-3 2 6 2-6 2 6 2-6 1 3h4',
  capacitor: 'M1 10h7M12 10h7M8 4v12M12 4v12',
  inductor: 'M1 11h3a2 2 0 014 0 2 2 0 014 0 2 2 0 014 0h3',
  ground: 'M10 2v8M4 10h12M6.5 13h7M9 16h2',
  source: 'M10 4a6 6 0 100 12 6 6 0 000-12zM6.5 10c1.2-3 2.3-3 3.5 0s2.3 3 3.5 0',
  mass: 'M4 5h12v11H4zM4 9h12',
  conductor: 'M2 6h16v8H2zM6 6v8M10 6v8M14 6v8',
  wall: 'M3 4h14v12H3zM3 8h14M3 12h14M8 4v4M13 8v4M8 12v4',
  room: 'M3 10l7-6 7 6v7H3zM8 17v-4h4v4',
  tank: 'M5 5c0-3 10-3 10 0v10c0 3-10 3-10 0zM5 9h10M5 12h10',
  pump: 'M10 4a6 6 0 100 12 6 6 0 000-12zM6 13l10-3L6 7',
  valve: 'M3 5v10l14-10v10zM10 10V4M7.5 4h5',
  pipe: 'M1 7h18M1 13h18M5 7v6M15 7v6',
  exchanger: 'M3 3h14v14H3zM3 7h3l2 6 2-6 2 6 2-6h3',
  sensor: 'M10 3a7 7 0 100 14 7 7 0 000-14zM10 10l3.5-3.5',
  weather: 'M6 15a3 3 0 010-6 4 4 0 017.7-1A3.5 3.5 0 0114 15z',
  control: 'M3 4h14v12H3zM6 13V9h4V7h4',
  sum: 'M10 4a6 6 0 100 12 6 6 0 000-12zM10 7v6M7 10h6',
  spring: 'M10 1v3l-4 1.5 8 2-8 2 8 2-8 2 4 1.5v4',
  damper: 'M10 1v8M6 8v7h8V8M7 9h6M10 15v4',
  switch: 'M2 10h5l6-5M13 10h5',
  door: 'M5 3h10v14H5zM12 10v1',
  diode: 'M2 10h4M6 5v10l8-5zM14 5v10M14 10h4',
  motor: 'M10 3a7 7 0 100 14 7 7 0 000-14zM6.5 13V7.5l3.5 4 3.5-4V13',
  fan: 'M10 10c-2-6 4-7 4-4s-4 4-4 4 6-2 6 1-6-1-6-1 2 6-1 6-0-6 1-6-6 2-6-1 6 1 6 1z',
  heater: 'M3 6h14v9H3zM6 6v9M10 6v9M14 6v9M4 15v2M16 15v2',
  table: 'M3 4h14v12H3zM3 8h14M8 4v12',
  port: 'M6 10a4 4 0 108 0 4 4 0 00-8 0z',
  part: 'M4 4h12v12H4z',
}

// An icon of the page by its name, or the drawing of a component's class: shapes on a square of 48 by 48 (the server lets nothing else through).
export function Icon({ name, size = 16, filled = false }: { name: string; size?: number; filled?: boolean }) {
  if (name.startsWith('<')) return <svg width={size} height={size} viewBox="0 0 48 48" fill="none" stroke="currentColor" strokeWidth={3} strokeLinecap="round" strokeLinejoin="round" aria-hidden="true" dangerouslySetInnerHTML={{ __html: name }} />
  const path = PATHS[name] ?? PATHS.part
  return (
    <svg width={size} height={size} viewBox="0 0 20 20" fill={filled ? 'currentColor' : 'none'} stroke="currentColor" strokeWidth={1.5} strokeLinecap="round" strokeLinejoin="round" aria-hidden="true">
      <path d={path} />
    </svg>
  )
}
