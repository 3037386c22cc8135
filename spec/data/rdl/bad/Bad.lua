-- A type with a fault.
Bad = Resource:subclass "Bad"
function Bad:initialize()
  self.x = nil + 1
end
