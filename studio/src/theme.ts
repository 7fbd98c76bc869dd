import { createTheme } from '@mantine/core'

export const theme = createTheme({
  primaryColor: 'blue',
  defaultRadius: 'sm',
  fontFamily: 'Inter, "Segoe UI", system-ui, -apple-system, "Noto Sans", "DejaVu Sans", sans-serif',
  fontFamilyMonospace: '"JetBrains Mono", "SF Mono", Consolas, "DejaVu Sans Mono", monospace',
  fontSizes: { xs: '11.5px', sm: '12.5px', md: '13.5px', lg: '15px', xl: '18px' },
})

// Curves: distinct on white and on black, and for most who see colours differently (after Okabe and Ito).
export const INK_LIGHT = ['#1971c2', '#e8590c', '#2b8a3e', '#9c36b5', '#c2255c', '#0c8599', '#846358', '#5f3dc4']
export const INK_DARK = ['#4dabf7', '#ffa94d', '#69db7c', '#da77f2', '#faa2c1', '#3bc9db', '#d2bab0', '#b197fc']

// Wires by what they carry.
const WIRES: Record<string, [string, string]> = {
  signals: ['#868e96', '#909296'],
  states: ['#ae3ec9', '#cc5de8'],
}
const FAMILY = ['#d9480f', '#1971c2', '#2f9e44', '#0c8599', '#a61e4d', '#5c7cfa', '#e67700']
const FAMILY_DARK = ['#ff922b', '#4dabf7', '#69db7c', '#3bc9db', '#f783ac', '#91a7ff', '#ffd43b']
const KNOWN: [RegExp, number][] = [[/heat|therm/i, 0], [/pin|electr/i, 1], [/fluid|flow|refriger|water|air|gas/i, 2], [/flange|shaft|rot|mech/i, 3]]

export function wire(kind: string, dark: boolean): string {
  const own = WIRES[kind]
  if (own) return own[dark ? 1 : 0]
  const known = KNOWN.find(([words]) => words.test(kind))
  const k = known ? known[1] : 4 + ([...kind].reduce((a, c) => a + c.charCodeAt(0), 0) % 3)
  return (dark ? FAMILY_DARK : FAMILY)[k]
}
