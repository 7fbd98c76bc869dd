"""The studio: a simulation program in the browser, made from the model alone. `acausal studio plant.py` opens it.

protocol    what is said between page, server and workers; the page's TypeScript types are generated from it
server      Starlette: files of the page, the socket; `guard` lets nobody in who was not invited
studio      what is open: the model, its cases, its runs, its workers
worker      one process with the compiled model: it describes, simulates, looks things up; it may die without harm
describe    a catalogue as forms, trees and diagrams
"""
