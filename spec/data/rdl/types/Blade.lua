-- A host with four cores and a gpu, of a type that lies beside the RDL files.
Blade = Resource:subclass "Blade"

function Blade:initialize(args)
  Resource.initialize(self, { "node", basename = args.basename, id = args.id })
  self:add_child(ListOf { Resource, ids = "0-3", args = { "core" } })
  self:add_child(Resource { "gpu", id = 0 })
end

return Blade
